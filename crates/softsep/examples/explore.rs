use softsep::recourse::{Answer, Recourse, engine};
use softsep::run::{Clock, Purpose, stream};
use softsep::separation::Ascent;
use softsep::Problem;
use rand::RngExt;

fn dot(a:&[f64],b:&[f64])->f64{a.iter().zip(b).map(|(a,b)|a*b).sum()}

struct Model{cuts:Vec<(f64,Vec<f64>)>}
impl Model{
    fn value(&self,x:&[f64])->f64{self.cuts.iter().map(|(a,g)|a+dot(g,x)).fold(f64::NEG_INFINITY,f64::max)}
    fn lower(&self,p:&Problem)->(f64,Vec<f64>){
        use softsep_lp::{Lp,Model as M};
        let mut m=M::new();
        let n=p.first.dim();
        for j in 0..n{m.add_col(p.first.cost[j],p.first.lower[j],p.first.upper[j]);}
        let t=m.add_col(1.0,-1e9,f64::INFINITY);
        for i in 0..p.first.rows.rows(){let terms:Vec<_>=p.first.rows.row(i).collect();m.add_row(p.first.row_lower[i],p.first.row_upper[i],&terms);}
        for (a,g) in &self.cuts{let mut terms:Vec<(usize,f64)>=g.iter().enumerate().map(|(j,v)|(j,-v)).collect();terms.push((t,1.0));m.add_row(*a,f64::INFINITY,&terms);}
        let mut lp=Lp::new(&m).unwrap();
        lp.solve().unwrap();
        let mut x=vec![0.0;n+1];
        lp.primal(&mut x).unwrap();
        let v=dot(&p.first.cost,&x[..n])+x[n];
        x.truncate(n);
        (v+p.first.constant,x)
    }
}
fn exact(p:&Problem,e:&mut dyn Recourse,x:&[f64])->f64{
    let mut a=Ascent::new(p,e,x);
    a.climb_from_axes().unwrap();
    a.climb_at_random(20,7).unwrap();
    p.first.value(x)+a.value()
}
fn main(){
    let args:Vec<String>=std::env::args().collect();
    let p=softsep::read(&args[1]).unwrap();
    let rule=args[2].as_str();
    let fstar:f64=args[3].parse().unwrap();
    let iters:usize=args[4].parse().unwrap();
    let scale:f64=args.get(5).map_or(1.0,|s|s.parse().unwrap());
    let replay:usize=args.get(7).map_or(0,|s|s.parse().unwrap());
    let start=args.get(8).map_or("nominal",|s|s.as_str()).to_owned();
    let lambda:f64=args.get(9).map_or(0.5,|s|s.parse().unwrap());let center=args.get(10).is_some();let (mut lps,mut steps)=(0,0);
    let seed:u64=args.get(6).map_or(1,|s|s.parse().unwrap());
    let clock=Clock::unlimited();
    let mut e=engine(&p,&clock).unwrap();
    let mut eval=engine(&p,&clock).unwrap();
    let n=p.first.dim();
    let mut rng=stream(seed,Purpose::Chain,0);
    // start: nominal optimum by cuts
    let mut nominal=vec![0.0;p.set.dim()];
    p.set.nominal(&mut nominal);
    let mut ans=Answer::new(&p);
    let mut model=Model{cuts:vec![]};
    let mut x:Vec<f64>=p.first.lower.iter().map(|l|l.max(0.0)).collect();
    for _ in 0..200{ e.at(&x); e.solve(&nominal,&mut ans).unwrap(); model.cuts.push((ans.intercept,ans.slope_x.clone())); let before=p.first.value(&x)+ans.value; let (l,y)=model.lower(&p); if before-l<1e-6*before.abs(){break} x=y;}
    model.cuts.clear();
    if start=="support" { e.at(&x); 
        let mut worst=nominal.clone(); let mut wv=f64::NEG_INFINITY; let mut c=nominal.clone();
        e.solve(&nominal,&mut ans).unwrap(); let d0=ans.slope_xi.clone();
        let ones=vec![1.0;p.set.dim()];
        for d in [d0,ones]{ p.set.support(&d,&mut c).unwrap(); e.solve(&c,&mut ans).unwrap(); if ans.value>wv{wv=ans.value; worst=c.clone();}}
        for _ in 0..300{ e.at(&x); e.solve(&worst,&mut ans).unwrap(); model.cuts.push((ans.intercept,ans.slope_x.clone())); let before=p.first.value(&x)+ans.value; let (l,y)=model.lower(&p); if before-l<1e-6*before.abs(){break} x=y;}
        model.cuts.clear();
    }
    let f0=exact(&p,eval.as_mut(),&x);
    println!("start {:.4}%", 100.0*(f0-fstar)/fstar);
    let mut xi=nominal.clone();
    p.set.support(&(0..p.set.dim()).map(|_|rng.random_range(-1.0..1.0)).collect::<Vec<f64>>(),&mut xi).unwrap();
    let mut cand=xi.clone();
    let mut other=Answer::new(&p);
    let x0=x.clone();
    let (mut gsum,mut gsq,mut dist)=(vec![0.0;n],0.0_f64,0.0_f64);
    let mut avg=x.clone(); let mut wsum=0.0;
    let mut lower=f64::NEG_INFINITY;
    let mut solves=0;
    let mut best=(f64::INFINITY,x.clone());
    let mut report=10.0;
    let mut first=[0usize;2];
    let mut level=f64::INFINITY;
    for t in 1..=iters{
        e.at(&x);
        e.solve(&xi,&mut ans).unwrap(); solves+=1;
        // propose: support with small chance of random direction
        let mut dir=ans.slope_xi.clone();
        let norm=dot(&dir,&dir).sqrt();
        let noise:f64=if t%2==0{0.0}else{0.3};
        for d in dir.iter_mut(){*d+=noise*norm*(rng.random_range(-1.0..1.0))*(3.0/(n as f64)).sqrt();}
        p.set.support(&dir,&mut cand).unwrap();
        if cand!=xi{ e.solve(&cand,&mut other).unwrap(); solves+=1; if other.value>ans.value{std::mem::swap(&mut ans,&mut other);std::mem::swap(&mut xi,&mut cand);} model.cuts.push((other.intercept,other.slope_x.clone()));}
        model.cuts.push((ans.intercept,ans.slope_x.clone()));
        let g:Vec<f64>=ans.slope_x.iter().zip(&p.first.cost).map(|(a,b)|a+b).collect();
        let value=p.first.value(&x)+ans.value;
        let gg=dot(&g,&g);
        gsq+=gg;
        for j in 0..n{gsum[j]+=g[j];}
        let d2=x.iter().zip(&x0).map(|(a,b)|(a-b).powi(2)).sum::<f64>().sqrt();
        dist=dist.max(d2);
        if rule.starts_with("polyak") && (t as f64).log(1.15).floor()>((t-1).max(1) as f64).log(1.15).floor(){ lower=lower.max(model.lower(&p).0); }
        if value<level{level=value}
        let proj=|x:&mut Vec<f64>|for j in 0..n{x[j]=x[j].clamp(p.first.lower[j],p.first.upper[j]);};
        match rule{
            "sqrt"=>{let a=scale/(t as f64).sqrt();for j in 0..n{x[j]-=a*g[j];}proj(&mut x);}
            "dog"=>{let a=scale*dist.max(1e-3*(1.0+dot(&x0,&x0).sqrt()))/gsq.sqrt();for j in 0..n{x[j]-=a*g[j];}proj(&mut x);}
            "da"=>{let a=scale*dist.max(1e-3*(1.0+dot(&x0,&x0).sqrt()))/gsq.sqrt();for j in 0..n{x[j]=x0[j]-a*gsum[j];}proj(&mut x);}
            "polyak"=>{ let a=if lower.is_finite(){scale*(value-lower).max(0.0)/gg}else{1e-3*(1.0+dot(&x0,&x0).sqrt())/gg.sqrt()};for j in 0..n{x[j]-=a*g[j];}proj(&mut x);}
            "level"=>{
                let bv=p.first.value(&best.1)+model.value(&best.1); best.0=bv;
                let v=p.first.value(&x)+model.value(&x); if v<best.0{best=(v,x.clone());}
                if !lower.is_finite(){lower=model.lower(&p).0;lps+=1;}
                let lev=lower.max(-1e18)+lambda*(best.0-lower);
                let mut reached=false;
                if center{ x.copy_from_slice(&best.1); }
                for _ in 0..replay{
                    let (mut bv,mut bi)=(f64::NEG_INFINITY,0);
                    for (i,(a,g)) in model.cuts.iter().enumerate(){let v=a+dot(g,&x); if v>bv{bv=v;bi=i;}}
                    let over=p.first.value(&x)+bv-lev;
                    steps+=1;
                    if over<=0.0{reached=true;break}
                    let mut g:Vec<f64>=model.cuts[bi].1.iter().zip(&p.first.cost).map(|(a,b)|a+b).collect();
                    for j in 0..n{ if (x[j]<=p.first.lower[j]&&g[j]>0.0)||(x[j]>=p.first.upper[j]&&g[j]<0.0){g[j]=0.0;} }
                    let gg=dot(&g,&g);
                    if gg==0.0{break}
                    let a=scale*over/gg;
                    for j in 0..n{x[j]-=a*g[j];}proj(&mut x);
                }
                if !reached{lower=lower.max(model.lower(&p).0);lps+=1;}
            }
            _=>panic!()
        }
        if rule=="level"{ let g=(exact(&p,eval.as_mut(),&best.1)-fstar)/fstar; if g<1e-3&&first[0]==0{first[0]=solves} if g<1e-4&&first[1]==0{first[1]=solves}
            if t as f64>=report{report*=1.6; let fx=exact(&p,eval.as_mut(),&x);
              println!("t {t} solves {solves} best {:.4}% x {:.4}% lower {:.4}% lps {lps} steps {steps}",100.0*g,100.0*(fx-fstar)/fstar,100.0*(lower-fstar)/fstar);}
            continue }
        for r in 0..replay{
            let (mut bv,mut bi)=(f64::NEG_INFINITY,0);
            for (i,(a,g)) in model.cuts.iter().enumerate(){let v=a+dot(g,&x); if v>bv{bv=v;bi=i;}}
            let g:Vec<f64>=model.cuts[bi].1.iter().zip(&p.first.cost).map(|(a,b)|a+b).collect();
            let gg=dot(&g,&g); gsq+=gg;
            let k=((t-1)*(replay+1)+r+2) as f64;
            let d2=x.iter().zip(&x0).map(|(a,b)|(a-b).powi(2)).sum::<f64>().sqrt();
            dist=dist.max(d2);
            let a=match rule{"sqrt"=>scale/k.sqrt(),"polyak"=>if lower.is_finite(){scale*(p.first.value(&x)+bv-lower).max(0.0)/gg}else{0.0},_=>scale*dist.max(1e-3*(1.0+dot(&x0,&x0).sqrt()))/gsq.sqrt()};
            for j in 0..n{x[j]-=a*g[j];}proj(&mut x);
            let w=k; wsum+=w; for j in 0..n{avg[j]+=w/wsum*(x[j]-avg[j]);}
        }
        let w=(t*(replay+1)) as f64; wsum+=w; for j in 0..n{avg[j]+=w/wsum*(x[j]-avg[j]);}
        if t%5==0{ // candidate by model + one solve
            for c in [&avg,&x]{ e.at(c); e.solve(&xi,&mut other).unwrap(); solves+=1; model.cuts.push((other.intercept,other.slope_x.clone())); let v=p.first.value(c)+model.value(c); 
            let bv=p.first.value(&best.1)+model.value(&best.1); best.0=best.0.max(bv); if v<best.0{best=(v,c.clone());}}
            let f=exact(&p,eval.as_mut(),&best.1);
            let g=(f-fstar)/fstar;
            if g<1e-3&&first[0]==0{first[0]=solves} if g<1e-4&&first[1]==0{first[1]=solves}
            if t as f64>=report{report*=1.6; let fa=exact(&p,eval.as_mut(),&avg); let fx=exact(&p,eval.as_mut(),&x);
              println!("t {t} solves {solves} best {:.4}% avg {:.4}% x {:.4}% lower {:.4}% dist {:.3e}",100.0*g,100.0*(fa-fstar)/fstar,100.0*(fx-fstar)/fstar,100.0*(lower-fstar)/fstar,dist);}
        }
    }
    println!("{} {rule} {scale} first 0.1%: {} 0.01%: {}",args[1],first[0],first[1]);
}
